module paymentlimit

go 1.26
