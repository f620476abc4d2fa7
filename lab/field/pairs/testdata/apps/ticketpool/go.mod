module ticketpool

go 1.26
