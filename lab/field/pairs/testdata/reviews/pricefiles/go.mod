module pricefiles

go 1.26
