module meterposts

go 1.26
