"""Code of scripts - numbers, lists, texts, dictionaries, classes, tensors of them - against what torch computes."""

# pyright: basic, reportMissingImports=false

from __future__ import annotations

import importlib.util
import sys
import textwrap

import numpy as np
import pytest

import lamina

torch = pytest.importorskip("torch")

HEAD = """import math
from typing import *
import torch
from torch import Tensor, nn


class Point(NamedTuple):
    a: Tensor
    b: int


@torch.jit.script
class Sum:
    def __init__(self, start: int):
        self.n = start
        self.items: List[int] = []

    def add(self, k: int) -> int:
        self.n += k
        self.items.append(k)
        return self.n


class Net(nn.Module):
"""
BODIES = r"""
a=[3,1,2]; a[0]=5; return x*a[0]
a=[3,1,2]; n=a.pop(); return x*n
a=[3,1,2]; n=a.pop(0); return x*n*len(a)
a=[3,1,2]; a.reverse(); return x*a[0]
a=[3,1,2]; a.sort(); return x*a[0]
a=[3,1,2]; a.sort(reverse=True); return x*a[0]
a=[3,1,2]; return x*sorted(a)[0]
a=[3,1,2]; return x*a.index(1)
a=[3,1,2]; a.remove(1); return x*len(a)
a=[3,1,1]; return x*a.count(1)
a=[3,1,2]; a.clear(); return x*len(a)
a=[3,1,2]; a.extend([4,5]); return x*len(a)
a=[3,1,2]; a.insert(1,9); return x*a[1]
a=[3,1,2]; b=a.copy(); b.append(1); return x*len(a)*len(b)
a=[3,1,2]; return x*sum(a)+max(a)-min(a)
a=[3,1,2]; del a[0]; return x*a[0]
a=[x,x*2]; a[1]=x*3; return a[0]+a[1]
a=[x,x*2]; y=a.pop(); return y+len(a)
a=[x,x*2]; a.reverse(); return a[0]
a=[x,x*2]; b=[t*2 for t in a]; return b[1]
a=[x,x*2]; return torch.stack(a[::-1])
a=[1,2]; b,c=a; return x*b+c
a=[1,2]; return x if a==[1,2] else x*2
d={'a':x}; d['b']=x*2; return d['a']+d['b']
d={'a':x}; return x*2 if 'a' in d else x
d={'a':1}; return x*d.get('a',5)+d.get('b',7)
d={'a':x,'b':x*2}; y=x; \nfor k,v in d.items():\n    y=y+v\nreturn y
d={'a':x,'b':x*2}; y=x; \nfor k in d:\n    y=y+d[k]\nreturn y
d={'a':x,'b':x*2}; y=x; \nfor v in d.values():\n    y=y+v\nreturn y
d={'a':x,'b':x*2}; return x*len(d.keys())
d={'a':x,'b':x*2}; y=d.pop('a'); return y*len(d)
d={'a':x,'b':x*2}; del d['a']; return x*len(d)
d={'a':x}; d.update({'c':x*2}); return d['c']
d={'a':x}; y=d.setdefault('q',x*3); return y+d['q']
d={1:x,2:x*2}; return d[2]
d={'a':x}; d.clear(); return x*len(d)
d={'a':1}; e=d.copy(); e['b']=2; return x*len(d)*len(e)
d=dict([('a',1)]); return x*d['a']
s=f'a{3}b'; return x*2 if s=='a3b' else x
s=str(3); return x*len(s)
return x*round(2.5)+round(3.5)+round(1.2)
return x if math.isinf(math.inf) and math.isfinite(1.0) else x*2
m,e=math.frexp(8.0); return x*m+e
m,e=math.modf(1.5); return x*m+e
e,f=divmod(17,5); return x*e+f
return x*2 if (True and not False) or False else x
return x*(1 if 3>2 else 0)
return x*int(True)+int(2.7)+float(3)+bool(1)
y=x;\nfor i,v in enumerate([x,x*2]):\n    y=y+v*i\nreturn y
y=x;\nfor u,v in zip([1,2],[x,x*2]):\n    y=y+v*u\nreturn y
y=x;\nfor i in range(5,0,-2):\n    y=y+i\nreturn y
y=x;\ni=0\nwhile i<5:\n    i+=1\n    if i==2:\n        continue\n    if i==4:\n        break\n    y=y+i\nreturn y
return x+torch.tensor(3)
return x+torch.tensor([1.0,2.0,3.0])
return x+torch.tensor([[1,2,3]],dtype=torch.float32)
return x+torch.tensor([1,2,3])
return x*torch.tensor([True,False,True])
return x+torch.tensor([len('a'),x.size(0),2])
return x+torch.as_tensor([1.0,2.0,3.0])
return x+torch.as_tensor(x)
z=torch.zeros(3); z[0]=1.0; return x+z
z=torch.zeros(3); z[0]=1; z[1:]=2; return x+z
z=torch.zeros(3,3); z[0,1]=x[0,0]; return x+z
z=torch.zeros(3,3); z[:,1]=x[0]; return x+z
z=x.clone(); z[z<0]=0.0; return z
z=x.clone(); z[[0,2]]=0.5; return z
z=x.clone(); z[torch.tensor([0,2])]=0.5; return z
z=x.clone(); z[...,0]=0.5; return z
z=x.clone(); z[None]; return z[:,None]+z[None]
return x[x.size(0)-1:]
return x[-1]
return x[:, [0,2]]
return x[torch.arange(2)]
return x.view(-1)[1::2]
b,c=x.shape; return x.reshape(c,b)*b
b,c=x.size(); return x.reshape(b*c)
return torch.zeros(x.shape)+x
return torch.zeros_like(x)+x.new_zeros(3,3)+x.new_ones([3])+x.new_full((3,),2.0)
return x+torch.arange(3)+torch.linspace(0,1,3)
return x.to(torch.float64)
return x.to(torch.int32).float()
return x.type_as(x).double().long()
return x.to(x.device)+x.to(x.dtype)
return torch.zeros(3,device=x.device,dtype=x.dtype)+x
return x.numel()*x+x.dim()+x.ndim
return x+len(x)
return torch.jit.annotate(float,2.0)*x
a=torch.jit.annotate(List[int],[]); a.append(3); return x*a[0]
o:Optional[Tensor]=None; \nif o is None:\n    o=x\nreturn o*2
assert x.size(0)==3; return x
if x.size(0)!=3:\n    raise ValueError('bad')\nreturn x
return x if isinstance(x,Tensor) else x*2
t=(x,2); return t[0]*t[1]
t=(x,2); y,n=t; return y*n
a,(b,c)=1,(2,3); return x*a*b*c
return torch.max(x,dim=1)[0]
v,i=torch.topk(x,2); return v
v,i=x.sort(dim=1,descending=True); return v+i
return torch.cat([x,x],dim=-1)
p=x.chunk(3,dim=1); return p[0]+p[2]
p=x.unbind(0); return p[0]+p[2]
p=x.split([1,2],dim=1); return p[1]
return torch.nn.functional.relu(x,inplace=False)
return torch.where(x>0,x,torch.zeros_like(x))
return torch.where(x>0,x,0.0)
return x.masked_fill(x>0,float('-inf')).clamp(min=-1.0)
return torch.einsum('ij,jk->ik',x,x)
return torch.matmul(x,x)@x
return x.float().mean(dim=[0,1],keepdim=True)
with torch.no_grad():\n    y=x*2\nreturn y
return torch.tensor(x.size(0))*x
return x.pow(2).sum(-1,keepdim=True).sqrt()
return torch.full([3],float(x.size(0)))+x
return torch.nn.functional.pad(x,(1,1),'constant',0.0)
return torch.nn.functional.interpolate(x[None,None],scale_factor=2.0,mode='nearest')
return torch.nn.functional.layer_norm(x,[3])
return torch.nn.functional.softmax(x,dim=-1)
return torch.meshgrid([x[0],x[1]],indexing='ij')[0]
n=x.size(0); return x*math.sin(n*0.1)+math.cos(n*0.1)+math.tan(n*0.1)+math.asin(n*0.1)+math.acos(n*0.1)+math.atan(n*0.1)
n=x.size(0)*0.1; return x*math.sinh(n)+math.cosh(n)+math.tanh(n)+math.exp(n)+math.log(n)
n=x.size(0)*0.1; return x*math.asinh(n)+math.atanh(n)+math.acosh(n+1)
n=x.size(0); return x*math.log10(n)+math.log1p(n)+math.expm1(n)+math.sqrt(n)
n=x.size(0); return x*math.atan2(n,2.0)+math.fmod(n,2.0)+math.pow(n,3.0)+math.copysign(n,-2.0)
n=x.size(0); return x*math.gcd(12,n)+math.degrees(n)+math.radians(n)+math.fabs(-n)
n=x.size(0); return x*math.floor(n*0.4)+math.ceil(n*0.4)+abs(-n)+abs(n*-2.5)
n=x.size(0)*0.1; return x*math.erf(n)+math.gamma(n)+math.lgamma(n)+math.erfc(n)
n=x.size(0); return x*round(n*0.5)+round(n*0.3)
n=x.size(0); return x if math.isinf(n*math.inf) and math.isfinite(n*1.0) and not math.isnan(n*1.0) else x*2
n=x.size(0); m,e=math.frexp(n*1.0); return x*m+e
n=x.size(0); return x*math.ldexp(0.5,n)
n=x.size(0); m,e=math.modf(n*1.5); return x*m+e
n=x.size(0); return x*(n//2)+(n%2)+(-n//2)+(-n%2)+(n/2)+2.0**n+n**-1
n=x.size(0); return x*(2**n)
n=x.size(0); e,f=divmod(17,n); return x*e+f
n=x.size(0); e,f=divmod(17.5,n); return x*e+f
n=x.size(0); return x*int(n*0.9)+float(n)+int(bool(n))
n=x.size(0); s=str(n)+'ab,cd'; p=s.split(','); return x*len(p)*len(p[0])
n=x.size(0); s=str(n)+'abc'; return x*2 if s.startswith('3a') and s.endswith('c') else x
n=x.size(0); s=str(n)+'abcb'; return x*s.find('b')+s.rfind('b')+s.count('b')
n=x.size(0); s=' a'+str(n)+' '; return x*len(s.strip())+len(s.lstrip())*2+len(s.rstrip())
n=x.size(0); s=' a'+str(n)+' '; return x*len(s.upper()+s.lower()+s.capitalize()+s.title())
n=x.size(0); s=str(n)+'abc'; return x*2 if s.replace('a','z')=='3zbc' and s[1:]=='abc' and s[0]=='3' and 'b' in s else x
n=x.size(0); s=','.join(['a',str(n)]); return x*2 if s=='a,3' else x
n=x.size(0); s='a{}b{}'.format(n,1.5); return x*2 if s=='a3b1.5' else x
n=x.size(0); s=f'a{n}b'; return x*2 if s=='a3b' else x
n=x.size(0); s='a%d' % n; return x*2 if s=='a3' else x
n=x.size(0); s=str(n)+'a'; return x*ord(s[0])+len(chr(n+97))
n=x.size(0); s=str(n); return x*int(s)+float(s+'.5')
n=x.size(0); s=str(n); return x*2 if s.isdigit() and not s.isalpha() and not s.isupper() else x
n=x.size(0); s=str(n); return x if s!='abd' and s<'abd' else x*2
n=x.size(0); m=n&6; return x*m if (n>2)&(n<5)|(n==7) else x
n=x.size(0); return x*min(n,2)+max(n,2.5)+min([n,1])+max([n,7])+sum([n,1])
n=x.size(0); return x if (n,2)==(3,2) else x*2
n=x.size(0); return x*2 if any([n>5,False]) or all([n>1,True]) else x
n=x.size(0); a=[1]*n; a[n-1]=4; a[-1]+=2; return x*sum(a)
n=x.size(0); a=[[1,2],[n,4]]; a[0][1]=7; return x*a[0][1]+a[1][0]
n=x.size(0); d={'a':[n]}; d['a'].append(2); return x*len(d['a'])
n=x.size(0); a=[i*n for i in range(n)]; return x*sum(a)
n=x.size(0); a=list(range(n)); a+=[1,2]; return x*len(a)
n=x.size(0); a=[n,2,1]; a=a[1:]+a[:1]; return x*a[0]+a[2]*10
n=x.size(0); a=[x]*n; return torch.stack(a).sum(0)
n=x.size(0); t=torch.jit.annotate(Tuple[int,int],(n,2)); return x*t[0]
n=x.size(0); return x.to(torch.float64 if n>2 else torch.float32)
return x.to(torch.bool).to(torch.float32)+x.to(dtype=torch.int64)
return x.to(x.device,torch.float64)
return x.to('cpu',torch.float64)
return x.to('cpu',torch.float64,False,True)
return x.to(x.double())
return x.sum(dtype=torch.float64)
return torch.softmax(x,-1,dtype=torch.float64)
return x.mean(dtype=torch.float64)
return torch.arange(3,dtype=torch.float64)+x
return torch.zeros(3,3,dtype=torch.int64)+x.long()
return torch.ones_like(x,dtype=torch.int32)
return torch.full((3,),2,dtype=torch.float32)*x
return torch.full_like(x,2.5,dtype=torch.float64)
return x.cumsum(0,dtype=torch.float64)
return x.argmax(dim=1)+x.argmin(1)
return torch.linspace(0.0,1.0,3,dtype=torch.float64)+x
return torch.eye(3,dtype=torch.float64)@x.double()
return x.new_zeros([3],dtype=torch.int64)+1
return torch.empty(3).fill_(2.0)+x
return x.prod(dim=0,dtype=torch.float64)
return torch.tril(torch.ones(3,3,dtype=torch.bool)).logical_not()
return x.to(torch.uint8)*0.5+x.long()*2.5
z=x.abs().to(torch.uint8); return (z/255,z*2,z+2.5,z>0.5)[0]
z=x.long()+2; return (z-0.5)*(z//2)+z**0.5
return torch.tensor(3,dtype=torch.float64)*x.long()
p=Point(x*2,x.size(0)); q,r=p; return p.a*p.b+q*r+p[1]
a=Sum(x.size(0)); b=Sum(7); a.add(4); b.add(1); return x*a.n+len(a.items)+b.add(2)
"""
"""Bodies of functions of x [3, 3], a line each: `;` and `\n` end statements."""
X = [[0.5, -1.25, 2.0], [1.5, -0.75, 0.25], [3.0, -2.0, -0.5]]


def method_of(body: str, name: str = "forward") -> str:
    """A method of x with a body."""
    lines: list[str] = []
    for line in body.replace("\\n", "\n").split("\n"):
        compound = line.startswith((" ", "for ", "if ", "while ", "with "))
        lines += [line] if compound else [part.strip() for part in line.split(";") if part.strip()]
    return textwrap.indent(f"def {name}(self, x: Tensor):\n" + textwrap.indent("\n".join(lines), "    ") + "\n", "    ")


def net_of(methods: str, path):
    """The module with methods; torch reads the code of scripts from files."""
    path.write_text(HEAD + methods)
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[path.stem] = module  # where torch looks for the classes of a script
    spec.loader.exec_module(module)
    return module.Net()


def checked(script, expected, path) -> None:
    script.save(str(path))
    found = np.asarray(lamina.compile(path, shapes={"x": [3, 3]}, threads=1, opt_level=0)(np.asarray(X, np.float32)))
    assert str(found.dtype) == str(expected.dtype).removeprefix("torch.")
    np.testing.assert_allclose(found, expected.numpy(), rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("body", BODIES.strip().split("\n"))
def test_a_script_computes_what_torch_computes(body: str, tmp_path) -> None:
    net = net_of(method_of(body), tmp_path / "code_of_a_net.py")
    checked(torch.jit.script(net), net(torch.tensor(X)), tmp_path / "net.pt")


TRACED = [b for b in BODIES.strip().split("\n") if ".to(" in b or "dtype" in b or "z" in b.partition("=")[0]]
"""Those that have no code but of tensors."""


@pytest.mark.parametrize("body", TRACED)
def test_a_trace_computes_what_torch_computes(body: str, tmp_path) -> None:
    net = net_of(method_of(body), tmp_path / "code_of_a_net.py")
    x = torch.tensor(X)
    checked(torch.jit.trace(net, x), net(x), tmp_path / "net.pt")
