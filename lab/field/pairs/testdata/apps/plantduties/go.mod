module plantduties

go 1.26
