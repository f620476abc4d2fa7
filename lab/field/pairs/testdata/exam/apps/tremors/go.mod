module tremors

go 1.25
