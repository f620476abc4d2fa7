module ticketrush

go 1.26
