module holidayrates

go 1.26
