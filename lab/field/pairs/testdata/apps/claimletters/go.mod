module claimletters

go 1.26
