module tramschedule

go 1.26
