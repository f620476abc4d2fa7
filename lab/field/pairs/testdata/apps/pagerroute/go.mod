module pagerroute

go 1.26
