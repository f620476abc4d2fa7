module tenantportal

go 1.25

require github.com/go-chi/chi/v5 v5.2.1
