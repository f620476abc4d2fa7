module partnerkeys

go 1.26
