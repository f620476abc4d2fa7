module couponletters

go 1.26
