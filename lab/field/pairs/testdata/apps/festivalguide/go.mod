module festivalguide

go 1.26
