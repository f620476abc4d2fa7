module bylawtexts

go 1.26
