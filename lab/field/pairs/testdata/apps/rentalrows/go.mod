module rentalrows

go 1.26
