module membershipcards

go 1.26
