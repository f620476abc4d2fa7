module tickerplant

go 1.25
