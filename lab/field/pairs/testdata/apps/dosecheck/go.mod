module dosecheck

go 1.26
