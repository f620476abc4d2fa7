module mirrorsearch

go 1.26
