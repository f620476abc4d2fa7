module vetinvoices

go 1.26
