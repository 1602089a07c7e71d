s/\* 11 \/ 10 >= serial_ps/* 11 \/ 1000 >= serial_ps/
