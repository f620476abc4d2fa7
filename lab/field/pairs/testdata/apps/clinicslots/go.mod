module clinicslots

go 1.26
