module statuspages

go 1.26
