module bakeryfranchise

go 1.26
