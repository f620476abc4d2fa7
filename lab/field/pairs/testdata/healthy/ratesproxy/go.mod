module ratesproxy

go 1.26
