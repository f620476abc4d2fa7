module udpmeters

go 1.26
