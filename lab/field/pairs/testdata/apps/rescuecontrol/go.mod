module rescuecontrol

go 1.26
