module pressnav

go 1.26
