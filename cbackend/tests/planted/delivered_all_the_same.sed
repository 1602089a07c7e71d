# A successor goes on behind what was delivered, whether it was committed or not.
s/vp_page_delivered(page, first + source), memory/atomic_load(\&head->delivered) + 0 * vp_page_delivered(page, first + source), memory/
