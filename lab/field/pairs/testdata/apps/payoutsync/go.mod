module payoutsync

go 1.26
