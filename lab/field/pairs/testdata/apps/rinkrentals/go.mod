module rinkrentals

go 1.26
