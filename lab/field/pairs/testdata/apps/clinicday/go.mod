module clinicday

go 1.26
