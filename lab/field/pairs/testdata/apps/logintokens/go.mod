module logintokens

go 1.26
