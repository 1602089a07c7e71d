s/\* 21 \/ 20 >= serial_ps/* 21 \/ 2000 >= serial_ps/
