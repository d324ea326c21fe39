//! Which foreign functions there are, and calling them.

use serde::{Deserialize, Serialize};

use crate::lapack::{
    Eigen, Lu, Matrix, Reflectors, Triangle, cholesky, constrained_least_squares, hessenberg, least_squares, norm,
    reciprocal_condition, schur_of_hessenberg, singular_values, sylvester, triangular_solve, tridiagonal,
};
use crate::{Buffer, Failure, fourier, random, scan};

macro_rules! routines {
    ($($variant:ident = $name:literal,)*) => {
        /// A foreign function that is known.
        #[derive(Copy, Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
        pub enum Routine {
            $(#[doc = concat!("`", $name, "`")] $variant,)*
        }

        impl Routine {
            /// The routine of a name.
            pub fn from_name(name: &str) -> Option<Self> {
                match name {
                    $($name => Some(Routine::$variant),)*
                    _ => None,
                }
            }

            /// Its name.
            pub fn name(self) -> &'static str {
                match self {
                    $(Routine::$variant => $name,)*
                }
            }
        }
    };
}

routines! {
    Xorshift64star = "ModelicaRandom_xorshift64star",
    Xorshift128plus = "ModelicaRandom_xorshift128plus",
    Xorshift1024star = "ModelicaRandom_xorshift1024star",
    RealToIntegers = "ModelicaRandom_convertRealToIntegers",
    RealFourier = "ModelicaFFT_kiss_fftr",
    ScanReal = "ModelicaStrings_scanReal",
    ScanInteger = "ModelicaStrings_scanInteger",
    ScanString = "ModelicaStrings_scanString",
    ScanIdentifier = "ModelicaStrings_scanIdentifier",
    Dgesv = "dgesv",
    Dgesvx = "dgesvx",
    Dgbsv = "dgbsv",
    Dgtsv = "dgtsv",
    Dgetrf = "dgetrf",
    Dgetri = "dgetri",
    Dgetrs = "dgetrs",
    Dgecon = "dgecon",
    Dlange = "dlange",
    Dpotrf = "dpotrf",
    Dtrsm = "dtrsm",
    Dgeqrf = "dgeqrf",
    Dgeqp3 = "dgeqp3",
    Dorgqr = "dorgqr",
    Dormqr = "dormqr",
    Dgelsy = "dgelsy",
    Dgels = "dgels",
    Dgglse = "dgglse",
    Dgehrd = "dgehrd",
    Dorghr = "dorghr",
    Dhseqr = "dhseqr",
    Dgees = "dgees",
    Dgeev = "dgeev",
    Dtrsyl = "dtrsyl",
    Dgesvd = "dgesvd",
    Dgesdd = "dgesdd",
}

impl Routine {
    /// Whether its time grows with the third power of the size of matrices.
    pub(crate) fn is_cubic(self) -> bool {
        !matches!(
            self,
            Routine::Xorshift64star
                | Routine::Xorshift128plus
                | Routine::Xorshift1024star
                | Routine::RealToIntegers
                | Routine::ScanReal
                | Routine::ScanInteger
                | Routine::ScanString
                | Routine::ScanIdentifier
                | Routine::Dlange
        )
    }

    /// Whether its results do not vary with its arguments but jump.
    pub fn is_discrete(self) -> bool {
        matches!(
            self,
            Routine::Xorshift64star | Routine::Xorshift128plus | Routine::Xorshift1024star | Routine::RealToIntegers
        )
    }

    /// Carries out a call. What it writes replaces the buffers; the value it returns goes into the last one.
    pub fn call(self, buffers: &mut [Buffer]) -> Result<(), Failure> {
        let mut call = Call { routine: self, buffers };
        match self {
            Routine::Xorshift64star => call.random(2, random::xorshift64star),
            Routine::Xorshift128plus => call.random(4, random::xorshift128plus),
            Routine::Xorshift1024star => call.random(33, random::xorshift1024star),
            Routine::RealToIntegers => {
                let integers = random::integers_of_real(call.number(0)?);
                call.write(1, &integers)
            }
            Routine::RealFourier => call.fourier(),
            Routine::ScanReal | Routine::ScanInteger | Routine::ScanString | Routine::ScanIdentifier => call.scan(),
            Routine::Dgesv => call.dgesv(),
            Routine::Dgesvx => call.dgesvx(),
            Routine::Dgbsv => call.dgbsv(),
            Routine::Dgtsv => call.dgtsv(),
            Routine::Dgetrf => call.dgetrf(),
            Routine::Dgetri => call.dgetri(),
            Routine::Dgetrs => call.dgetrs(),
            Routine::Dgecon => call.dgecon(),
            Routine::Dlange => call.dlange(),
            Routine::Dpotrf => call.dpotrf(),
            Routine::Dtrsm => call.dtrsm(),
            Routine::Dgeqrf => call.dgeqrf(),
            Routine::Dgeqp3 => call.dgeqp3(),
            Routine::Dorgqr => call.dorgqr(),
            Routine::Dormqr => call.dormqr(),
            Routine::Dgelsy => call.dgelsy(),
            Routine::Dgels => call.dgels(),
            Routine::Dgglse => call.dgglse(),
            Routine::Dgehrd => call.dgehrd(),
            Routine::Dorghr => call.dorghr(),
            Routine::Dhseqr => call.dhseqr(),
            Routine::Dgees => call.dgees(),
            Routine::Dgeev => call.dgeev(),
            Routine::Dtrsyl => call.dtrsyl(),
            Routine::Dgesvd => call.svd(0, 1),
            Routine::Dgesdd => call.svd(0, 0),
        }
    }
}

/// The buffers of a call under way; positions are those of the interface in C or FORTRAN.
struct Call<'b> {
    routine: Routine,
    buffers: &'b mut [Buffer],
}

/// `info` of what is done.
const DONE: f64 = 0.0;

impl Call<'_> {
    fn wrong(&self, at: usize) -> Failure {
        Failure::new(format!("argument {} of `{}` does not fit", at + 1, self.routine.name()))
    }

    fn numbers(&self, at: usize) -> Result<&[f64], Failure> {
        match self.buffers.get(at) {
            Some(Buffer::Numbers(numbers)) => Ok(numbers),
            _ => Err(self.wrong(at)),
        }
    }

    fn number(&self, at: usize) -> Result<f64, Failure> {
        self.numbers(at)?.first().copied().ok_or_else(|| self.wrong(at))
    }

    /// A size.
    fn size(&self, at: usize) -> Result<usize, Failure> {
        let x = self.number(at)?;
        if (0.0..=1e9).contains(&x) {
            Ok(x as usize)
        } else {
            Err(self.wrong(at))
        }
    }

    fn text(&self, at: usize) -> Result<&str, Failure> {
        match self.buffers.get(at) {
            Some(Buffer::Text(text)) => Ok(text),
            _ => Err(self.wrong(at)),
        }
    }

    /// Whether an option begins with a letter.
    fn option(&self, at: usize, letter: char) -> Result<bool, Failure> {
        Ok(self
            .text(at)?
            .chars()
            .next()
            .is_some_and(|c| c.eq_ignore_ascii_case(&letter)))
    }

    fn write(&mut self, at: usize, values: &[f64]) -> Result<(), Failure> {
        let failure = self.wrong(at);
        match self.buffers.get_mut(at) {
            Some(Buffer::Numbers(numbers)) if numbers.len() >= values.len() => {
                numbers[..values.len()].copy_from_slice(values);
                Ok(())
            }
            _ => Err(failure),
        }
    }

    fn write_text(&mut self, at: usize, text: &str) -> Result<(), Failure> {
        let failure = self.wrong(at);
        match self.buffers.get_mut(at) {
            Some(buffer) => {
                *buffer = Buffer::Text(text.into());
                Ok(())
            }
            None => Err(failure),
        }
    }

    /// A matrix in a buffer; its leading dimension is the argument behind it.
    fn matrix(&self, at: usize, rows: usize, columns: usize) -> Result<Matrix, Failure> {
        let leading = self.size(at + 1)?;
        let numbers = self.numbers(at)?;
        let least = if rows == 0 || columns == 0 {
            0
        } else {
            leading.saturating_mul(columns - 1).saturating_add(rows)
        };
        if leading < rows || numbers.len() < least {
            return Err(self.wrong(at));
        }
        Ok(Matrix::from_fn(rows, columns, |i, j| numbers[j * leading + i]))
    }

    fn write_matrix(&mut self, at: usize, matrix: &Matrix) -> Result<(), Failure> {
        let leading = self.size(at + 1)?;
        let failure = self.wrong(at);
        let Some(Buffer::Numbers(numbers)) = self.buffers.get_mut(at) else {
            return Err(failure);
        };
        for j in 0..matrix.columns {
            let place = numbers.get_mut(j * leading..j * leading + matrix.rows);
            place.ok_or_else(|| failure.clone())?.copy_from_slice(matrix.column(j));
        }
        Ok(())
    }

    fn random(&mut self, size: usize, generator: fn(&[f64]) -> (Vec<f64>, f64)) -> Result<(), Failure> {
        let state = self.numbers(0)?;
        if state.len() < size {
            return Err(self.wrong(0));
        }
        let (state, number) = generator(state);
        self.write(1, &state)?;
        self.write(2, &[number])
    }

    fn fourier(&mut self) -> Result<(), Failure> {
        let signal = self.numbers(0)?;
        let result = self.buffers.len().saturating_sub(1);
        if !signal.len().is_multiple_of(2) || signal.is_empty() {
            return self.write(result, &[1.0]);
        }
        let (amplitudes, phases) = fourier::amplitudes_and_phases(signal)?;
        self.write(4, &amplitudes)?;
        self.write(5, &phases)?;
        self.write(result, &[DONE])
    }

    fn scan(&mut self) -> Result<(), Failure> {
        let start = self.number(1)?;
        if !(1.0..=1e9).contains(&start) {
            return Err(self.wrong(1));
        }
        let start = start as usize;
        let text = self.text(0)?;
        match self.routine {
            Routine::ScanReal => {
                let found = scan::real(text, start, self.number(2)? != 0.0);
                self.write(3, &[found.next as f64])?;
                self.write(4, &[found.value])
            }
            Routine::ScanInteger => {
                let found = scan::integer(text, start, self.number(2)? != 0.0);
                self.write(3, &[found.next as f64])?;
                self.write(4, &[found.value as f64])
            }
            _ => {
                let string = self.routine == Routine::ScanString;
                let found = if string {
                    scan::string(text, start)
                } else {
                    scan::identifier(text, start)
                };
                self.write(2, &[found.next as f64])?;
                self.write_text(3, &found.value)
            }
        }
    }

    /// Solves and says the first pivot that is zero, if there is one.
    fn solved(&mut self, a: Matrix, b: (usize, Matrix), pivots: usize, info: usize) -> Result<(), Failure> {
        let lu = Lu::new(a);
        self.write(pivots, &from_one(&lu.pivots))?;
        match lu.singular {
            None => {
                self.write_matrix(b.0, &lu.solve(b.1, false))?;
                self.write(info, &[DONE])
            }
            Some(place) => self.write(info, &[place as f64]),
        }
    }

    fn dgesv(&mut self) -> Result<(), Failure> {
        let (n, right) = (self.size(0)?, self.size(1)?);
        let (a, b) = (self.matrix(2, n, n)?, self.matrix(5, n, right)?);
        let lu = Lu::new(a.clone());
        self.write_matrix(2, &lu.factors)?;
        self.solved(a, (5, b), 4, 7)
    }

    fn dgesvx(&mut self) -> Result<(), Failure> {
        let (n, right) = (self.size(2)?, self.size(3)?);
        let (a, b) = (self.matrix(4, n, n)?, self.matrix(12, n, right)?);
        let transposed = !self.option(1, 'N')?;
        let kind = if transposed { "I" } else { "1" };
        let size = norm(&a, kind);
        let lu = Lu::new(a);
        let condition = reciprocal_condition(&lu, size, kind);
        self.write(16, &[condition])?;
        if let Some(place) = lu.singular {
            return self.write(21, &[place as f64]);
        }
        self.write_matrix(14, &lu.solve(b, transposed))?;
        let info = if condition < f64::EPSILON { n as f64 + 1.0 } else { DONE };
        self.write(21, &[info])
    }

    fn dgbsv(&mut self) -> Result<(), Failure> {
        let (n, lower, upper, right) = (self.size(0)?, self.size(1)?, self.size(2)?, self.size(3)?);
        let band = self.matrix(4, 2 * lower + upper + 1, n)?;
        let inside = |i: usize, j: usize| i <= j + lower && j <= i + upper;
        let a = Matrix::from_fn(n, n, |i, j| {
            if inside(i, j) {
                band[(lower + upper + i - j, j)]
            } else {
                0.0
            }
        });
        let b = self.matrix(7, n, right)?;
        self.solved(a, (7, b), 6, 9)
    }

    fn dgtsv(&mut self) -> Result<(), Failure> {
        let (n, right) = (self.size(0)?, self.size(1)?);
        let short = n.saturating_sub(1);
        let part = |call: &Self, at: usize, count: usize| -> Result<Vec<f64>, Failure> {
            call.numbers(at)?
                .get(..count)
                .map(<[f64]>::to_vec)
                .ok_or_else(|| call.wrong(at))
        };
        let (lower, diagonal, upper) = (part(self, 2, short)?, part(self, 3, n)?, part(self, 4, short)?);
        let (x, singular) = tridiagonal(&lower, &diagonal, &upper, self.matrix(5, n, right)?);
        self.write_matrix(5, &x)?;
        self.write(7, &[singular.map_or(DONE, |place| place as f64)])
    }

    fn dgetrf(&mut self) -> Result<(), Failure> {
        let (m, n) = (self.size(0)?, self.size(1)?);
        let lu = Lu::new(self.matrix(2, m, n)?);
        self.write_matrix(2, &lu.factors)?;
        self.write(4, &from_one(&lu.pivots))?;
        self.write(5, &[lu.singular.map_or(DONE, |place| place as f64)])
    }

    /// Factors that were computed before.
    fn factors(&self, at: usize, pivots: usize, n: usize) -> Result<Lu, Failure> {
        let factors = self.matrix(at, n, n)?;
        let list = self.numbers(pivots)?.iter().take(n);
        let pivots: Vec<usize> = list
            .map(|&p| p as usize)
            .filter(|p| (1..=n).contains(p))
            .map(|p| p - 1)
            .collect();
        if pivots.len() < n {
            return Err(self.wrong(at));
        }
        let singular = (0..n).find(|&k| factors[(k, k)] == 0.0).map(|k| k + 1);
        Ok(Lu {
            factors,
            pivots,
            singular,
        })
    }

    fn dgetri(&mut self) -> Result<(), Failure> {
        let n = self.size(0)?;
        let lu = self.factors(1, 3, n)?;
        if let Some(place) = lu.singular {
            return self.write(6, &[place as f64]);
        }
        self.write_matrix(1, &lu.solve(Matrix::identity(n), false))?;
        self.write(6, &[DONE])
    }

    fn dgetrs(&mut self) -> Result<(), Failure> {
        let (n, right) = (self.size(1)?, self.size(2)?);
        let lu = self.factors(3, 5, n)?;
        let transposed = !self.option(0, 'N')?;
        let x = lu.solve(self.matrix(6, n, right)?, transposed);
        self.write_matrix(6, &x)?;
        self.write(8, &[DONE])
    }

    fn dgecon(&mut self) -> Result<(), Failure> {
        let n = self.size(1)?;
        let factors = self.matrix(2, n, n)?;
        let singular = (0..n).find(|&k| factors[(k, k)] == 0.0).map(|k| k + 1);
        // Exchanged rows change neither norm of the inverse but for the order of its columns, and these are all looked at.
        let lu = Lu {
            factors,
            pivots: (0..n).collect(),
            singular,
        };
        let kind = self.text(0)?.to_owned();
        let condition = reciprocal_condition(&lu, self.number(4)?, &kind);
        self.write(5, &[condition])?;
        self.write(8, &[DONE])
    }

    fn dlange(&mut self) -> Result<(), Failure> {
        let a = self.matrix(3, self.size(1)?, self.size(2)?)?;
        let value = norm(&a, self.text(0)?);
        self.write(self.buffers.len() - 1, &[value])
    }

    fn dpotrf(&mut self) -> Result<(), Failure> {
        let n = self.size(1)?;
        let mut a = self.matrix(2, n, n)?;
        let failed = cholesky(&mut a, self.option(0, 'U')?);
        self.write_matrix(2, &a)?;
        self.write(4, &[failed.map_or(DONE, |order| order as f64)])
    }

    fn dtrsm(&mut self) -> Result<(), Failure> {
        let (m, n) = (self.size(4)?, self.size(5)?);
        let right = self.option(0, 'R')?;
        let side = if right { n } else { m };
        let a = self.matrix(7, side, side)?;
        let alpha = self.number(6)?;
        let mut b = self.matrix(9, m, n)?;
        b.elements.iter_mut().for_each(|x| *x *= alpha);
        let triangle = Triangle {
            upper: self.option(1, 'U')?,
            transposed: !self.option(2, 'N')?,
            unit: self.option(3, 'U')?,
        };
        self.write_matrix(9, &triangular_solve(&a, &b, triangle, right))
    }

    fn dgeqrf(&mut self) -> Result<(), Failure> {
        let qr = Reflectors::new(self.matrix(2, self.size(0)?, self.size(1)?)?);
        self.write_matrix(2, &qr.matrix)?;
        self.write(4, &qr.tau)?;
        self.write(7, &[DONE])
    }

    fn dgeqp3(&mut self) -> Result<(), Failure> {
        let (qr, order) = Reflectors::with_pivots(self.matrix(2, self.size(0)?, self.size(1)?)?);
        self.write_matrix(2, &qr.matrix)?;
        self.write(4, &from_one(&order))?;
        self.write(5, &qr.tau)?;
        self.write(8, &[DONE])
    }

    fn reflectors(&self, at: usize, tau: usize, rows: usize, count: usize) -> Result<Reflectors, Failure> {
        let tau_list = self.numbers(tau)?.get(..count).ok_or_else(|| self.wrong(tau))?.to_vec();
        Ok(Reflectors {
            matrix: self.matrix(at, rows, count)?,
            tau: tau_list,
        })
    }

    fn dorgqr(&mut self) -> Result<(), Failure> {
        let (m, n, k) = (self.size(0)?, self.size(1)?, self.size(2)?);
        let q = self.reflectors(3, 5, m, k)?.orthogonal(n);
        self.write_matrix(3, &q)?;
        self.write(8, &[DONE])
    }

    fn dormqr(&mut self) -> Result<(), Failure> {
        let (m, n, k) = (self.size(2)?, self.size(3)?, self.size(4)?);
        let left = self.option(0, 'L')?;
        let transposed = !self.option(1, 'N')?;
        let qr = self.reflectors(5, 7, if left { m } else { n }, k)?;
        let mut c = self.matrix(8, m, n)?;
        if left {
            qr.apply(&mut c, transposed, 0);
        } else {
            // C·Q = (Qᵀ·Cᵀ)ᵀ
            let mut turned = c.transposed();
            qr.apply(&mut turned, !transposed, 0);
            c = turned.transposed();
        }
        self.write_matrix(8, &c)?;
        self.write(12, &[DONE])
    }

    fn dgelsy(&mut self) -> Result<(), Failure> {
        let (m, n, right) = (self.size(0)?, self.size(1)?, self.size(2)?);
        let (a, b) = (self.matrix(3, m, n)?, self.matrix(5, m, right)?);
        let (x, rank) = least_squares(a, &b, self.number(8)?);
        self.write_matrix(5, &x)?;
        self.write(9, &[rank as f64])?;
        self.write(12, &[DONE])
    }

    fn dgels(&mut self) -> Result<(), Failure> {
        let (m, n, right) = (self.size(1)?, self.size(2)?, self.size(3)?);
        let transposed = !self.option(0, 'N')?;
        let mut a = self.matrix(4, m, n)?;
        if transposed {
            a = a.transposed();
        }
        let b = self.matrix(6, a.rows, right)?;
        let full = a.rows.min(a.columns);
        let (x, rank) = least_squares(a, &b, 0.0);
        self.write_matrix(6, &x)?;
        self.write(10, &[if rank == full { DONE } else { rank as f64 + 1.0 }])
    }

    fn dgglse(&mut self) -> Result<(), Failure> {
        let (m, n, p) = (self.size(0)?, self.size(1)?, self.size(2)?);
        let (a, b) = (self.matrix(3, m, n)?, self.matrix(5, p, n)?);
        let c = self.numbers(7)?.get(..m).ok_or_else(|| self.wrong(7))?;
        let d = self.numbers(8)?.get(..p).ok_or_else(|| self.wrong(8))?;
        let x = constrained_least_squares(&a, c, &b, d);
        self.write(9, &x)?;
        self.write(12, &[DONE])
    }

    /// Rows that balancing took out are not supported: nothing here takes any out.
    fn whole(&self, low: usize, high: usize, n: usize) -> Result<(), Failure> {
        if self.size(low)? > 1 || self.size(high)? < n {
            return Err(self.wrong(low));
        }
        Ok(())
    }

    fn dgehrd(&mut self) -> Result<(), Failure> {
        let n = self.size(0)?;
        self.whole(1, 2, n)?;
        let reduced = hessenberg(self.matrix(3, n, n)?);
        self.write_matrix(3, &reduced.matrix)?;
        self.write(5, &reduced.tau)?;
        self.write(8, &[DONE])
    }

    fn dorghr(&mut self) -> Result<(), Failure> {
        let n = self.size(0)?;
        self.whole(1, 2, n)?;
        let reduced = self.reflectors(3, 5, n, n.saturating_sub(1))?;
        let mut q = Matrix::identity(n);
        reduced.apply(&mut q, false, 1);
        self.write_matrix(3, &q)?;
        self.write(8, &[DONE])
    }

    fn dhseqr(&mut self) -> Result<(), Failure> {
        let n = self.size(2)?;
        self.whole(3, 4, n)?;
        let h = self.matrix(5, n, n)?;
        let z = if self.option(1, 'V')? {
            self.matrix(9, n, n)?
        } else {
            Matrix::identity(n)
        };
        let h = Matrix::from_fn(n, n, |i, j| if i <= j + 1 { h[(i, j)] } else { 0.0 });
        let eigen = schur_of_hessenberg(h, z);
        self.write(7, &eigen.real)?;
        self.write(8, &eigen.imaginary)?;
        if self.option(0, 'S')? {
            self.write_matrix(5, &eigen.form)?;
        }
        if !self.option(1, 'N')? {
            self.write_matrix(9, &eigen.vectors)?;
        }
        self.write(13, &[info_of(&eigen)])
    }

    fn dgees(&mut self) -> Result<(), Failure> {
        let n = self.size(3)?;
        let eigen = Eigen::new(&self.matrix(4, n, n)?);
        self.write_matrix(4, &eigen.form)?;
        self.write(7, &eigen.real)?;
        self.write(8, &eigen.imaginary)?;
        if self.option(0, 'V')? {
            self.write_matrix(9, &eigen.vectors)?;
        }
        self.write(14, &[info_of(&eigen)])
    }

    fn dgeev(&mut self) -> Result<(), Failure> {
        let n = self.size(2)?;
        if self.option(0, 'V')? {
            return Err(Failure::new("left eigenvectors are not computed"));
        }
        let eigen = Eigen::new(&self.matrix(3, n, n)?);
        self.write(5, &eigen.real)?;
        self.write(6, &eigen.imaginary)?;
        if self.option(1, 'V')? {
            self.write_matrix(9, &eigen.right_vectors())?;
        }
        self.write(13, &[info_of(&eigen)])
    }

    fn dtrsyl(&mut self) -> Result<(), Failure> {
        let (m, n) = (self.size(3)?, self.size(4)?);
        let (mut a, mut b) = (self.matrix(5, m, m)?, self.matrix(7, n, n)?);
        if !self.option(0, 'N')? {
            a = a.transposed();
        }
        if !self.option(1, 'N')? {
            b = b.transposed();
        }
        let c = self.matrix(9, m, n)?;
        self.write(11, &[1.0])?;
        match sylvester(&a, &b, &c, self.number(2)?) {
            Some(x) => {
                self.write_matrix(9, &x)?;
                self.write(12, &[DONE])
            }
            None => self.write(12, &[1.0]),
        }
    }

    /// Singular values; where the options for U and V stand. `dgesdd` has one for both.
    fn svd(&mut self, left: usize, right: usize) -> Result<(), Failure> {
        let first = right + 1;
        let (m, n) = (self.size(first)?, self.size(first + 1)?);
        let result = singular_values(&self.matrix(first + 2, m, n)?);
        self.write(first + 4, &result.values)?;
        if self.option(left, 'A')? {
            self.write_matrix(first + 5, &result.left)?;
        }
        if self.option(right, 'A')? {
            self.write_matrix(first + 7, &result.right.transposed())?;
        }
        let behind = if right == left { 3 } else { 2 };
        self.write(first + 9 + behind, &[DONE])
    }
}

fn info_of(eigen: &Eigen) -> f64 {
    if eigen.complete { DONE } else { 1.0 }
}

/// Positions from 1.
fn from_one(list: &[usize]) -> Vec<f64> {
    list.iter().map(|&p| p as f64 + 1.0).collect()
}
