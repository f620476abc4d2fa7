module cottagesearch

go 1.26
