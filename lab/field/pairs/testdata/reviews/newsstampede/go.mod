module newsstampede

go 1.26
