module panoramas

go 1.26
