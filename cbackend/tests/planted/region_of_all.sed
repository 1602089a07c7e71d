s/return region + sizeof(vp_txchoice_words);/return sizeof(vp_txchoice_words) + 0 * region;/
