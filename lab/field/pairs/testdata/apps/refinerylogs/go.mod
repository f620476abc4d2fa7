module refinerylogs

go 1.26
