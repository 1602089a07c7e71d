/^    vp_note_write(&ring->producer, floor);/{h;d;}
/^    vp_progress_publish(&ring->progress, floor);/G
