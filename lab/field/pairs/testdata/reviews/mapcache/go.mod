module mapcache

go 1.26
