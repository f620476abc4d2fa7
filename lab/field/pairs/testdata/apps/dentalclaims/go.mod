module dentalclaims

go 1.26
