module fishauction

go 1.26
