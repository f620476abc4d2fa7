module paymentproxy

go 1.26
