module duereminders

go 1.26
