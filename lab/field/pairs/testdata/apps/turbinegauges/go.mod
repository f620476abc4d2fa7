module turbinegauges

go 1.26
