module baggagetags

go 1.26
