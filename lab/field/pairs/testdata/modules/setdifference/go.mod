module setdifference

go 1.26

require github.com/deckarep/golang-set/v2 v2.8.0
