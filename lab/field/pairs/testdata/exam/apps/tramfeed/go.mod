module tramfeed

go 1.25
