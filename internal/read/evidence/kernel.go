package evidence

import (
	"github.com/google/pprof/profile"

	"github.com/gowhy/gowhy/internal/know/model"
	"github.com/gowhy/gowhy/internal/sense/artifact"
)

func isOffCPU(p *profile.Profile) bool { return hasType("offcpu")(p) }

func (l *loader) foldKernelCPU(f format, p *pprofFile) error {
	return l.foldKernel(f, p, func(k *model.Kernel, m *model.Profile) {
		k.CPU = m
		k.UserOnly = artifact.UserOnly(p.Profile)
	})
}

func (l *loader) foldOffCPU(f format, p *pprofFile) error {
	return l.foldKernel(f, p, func(k *model.Kernel, m *model.Profile) {
		k.Off, k.OffShare = m, artifact.WatchedShare(p.Comments)
	})
}

func (l *loader) foldKernel(f format, p *pprofFile, set func(*model.Kernel, *model.Profile)) error {
	if err := l.take(f.source, f.what, p.name); err != nil {
		return err
	}
	m, err := l.convert(p)
	if err != nil {
		return err
	}
	if l.m.Kernel == nil {
		l.m.Kernel = &model.Kernel{}
	}
	set(l.m.Kernel, m)
	l.m.Kernel.Lost = max(l.m.Kernel.Lost, artifact.LostSamples(p.Comments))
	return nil
}
