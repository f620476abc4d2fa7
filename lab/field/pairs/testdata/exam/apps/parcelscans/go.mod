module parcelscans

go 1.22
