module decimalparse

go 1.26

require github.com/shopspring/decimal v1.2.0
