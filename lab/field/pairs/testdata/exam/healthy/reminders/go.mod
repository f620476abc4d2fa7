module reminders

go 1.26
